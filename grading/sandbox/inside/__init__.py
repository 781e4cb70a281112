"""What runs inside the sandbox: the template process, the guard of one kernel, and the kernel.

This folder is all of `grading` that a submission can see. It holds no secret, and imports nothing of ours.
"""
