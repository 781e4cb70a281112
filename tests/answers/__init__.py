"""Answers to the graded questions: right ones in several styles, wrong ones that no judge of values can make."""
