"""The lie test: give a function a rule that lies, and see who believes it.

README.md says how to run it on a system of your own. This folder needs
nothing from the project, so you can copy it.
"""
