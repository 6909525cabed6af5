"""The models of the course, one idea a file, each equal to its reference implementation.

    02      ngram                               counts
    02      rnn, recurrence, rnn_lm             the recurrence, a language model on it
    03, 04  lstm, gru, recurrent                gates; stacked and bidirectional layers
    05      context_windows, negative_sampling, word2vec, glove
    07      char_cnn, highway, bilm, scalar_mix, elmo
    08      attention, source_and_target, seq2seq
    09      transformer, encoder_decoder, decoding
    10      embeddings, bert, bert_heads, gpt, sampling
    11      reuse, bert_tasks
    12      roberta
    13      factorized_embeddings, albert
    14      spanbert, electra, electra_pair
    15      sentence_tree, kbert
    16      disentangled_attention, deberta, enhanced_mask_decoder, sift
    17      distilbert, distillation, triple_loss
    18      layer_map, tinybert; and `lmcourse.compression`

Shared: inputs (checks), outputs, losses, activations, initialization, checkpoint and weights
(saving and loading), and conversion (from and to torch.nn and transformers).
"""
