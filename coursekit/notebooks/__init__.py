"""From tracked sources to notebooks: reading, a lab's student version, the workbook, JupyterLab."""
