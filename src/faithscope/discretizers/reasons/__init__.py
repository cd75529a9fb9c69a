"""Discretizers of reasons in words: by template, codebook, common phrases or clusters of embeddings."""
