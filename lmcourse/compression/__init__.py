"""Compression: a model made smaller after training, in four ways (chapter 18).

After the families of Gupta and Agrawal's survey (2020, "Compression of deep learning models for
text"), one idea a file:

    magnitude_pruning                   the smallest weights become zero
    head_pruning                        whole heads of the attention go
    affine                              real numbers as small whole ones, in plain operations
    dynamic_quantization                weights in eight bits, activations as they come
    quantization_aware                  training with rounding, then eight bits throughout
    sharing                             several layers become one
    low_rank                            a matrix becomes the product of two thin ones

What they share: layers (which layers are meant, what was done), saving (as files) and size. Each
takes a model and returns another that is called as before; each can follow a distillation, and most
can follow each other: heads, then layers that are one, then low rank, then masks, then eight bits.
Training with rounding takes masks as they are; dynamic quantization, once they are permanent.
"""
