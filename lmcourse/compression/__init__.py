"""Compression of trained models: pruning, quantization, sharing, factorization (chapter 18).

The four families of Gupta and Agrawal's survey (2020, "Compression of deep learning models for
text"), one method per module:

    magnitude_pruning                   set the smallest weights to zero
    head_pruning                        remove whole attention heads
    affine                              the equations of quantization in plain operations
    dynamic_quantization                int8 weights; activations quantized at run time
    quantization_aware                  training with fake quantization, then int8 throughout
    sharing                             several layers share one set of weights
    low_rank                            replace a matrix by the product of two thin ones

`layers` has what they share, and `size` measures the results.
Each method takes a model and returns a compressed copy with the same call signature. Each can
follow distillation, and they combine in this order: head pruning, sharing, low rank, magnitude
pruning, quantization. Quantization-aware training accepts masks; dynamic quantization needs them
to be permanent.
"""
