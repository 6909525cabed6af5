"""Text before the model: characters, normal forms, normalizers and pre-tokenizers."""
