"""How the shipped model was made: a corpus from our own grammar, a tokenizer, a run, a GGUF and its evaluation."""
