"""What Talkhouse is compared with: scripts, whose heads name the packages that they need.

Each uses its library as the documentation of that shows it.
"""
