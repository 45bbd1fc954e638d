"""WRITE: what can be told of a unit while somebody writes it. Pure."""
