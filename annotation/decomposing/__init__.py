"""DECOMPOSE: a sentence becomes short statements of one fact each (STUs). Pure: parses go in, units come out."""
