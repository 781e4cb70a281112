"""Whole wrong answers, each beside the finding its check must name, and right answers in different styles."""
