"""Interactive figures: Python, JavaScript and CSS side by side, and a picture where no kernel runs.

A figure is a function of its module's name that returns something to display. With a front end it is a widget
whose output also carries a picture, for readers of the saved notebook; without one it is that picture.
Figures compute in the browser: moving a slider asks nothing of the kernel.
"""
