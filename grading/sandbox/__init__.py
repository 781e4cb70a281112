"""The sandbox a submission runs in: what it may see, what it may use, and the kernels inside."""
