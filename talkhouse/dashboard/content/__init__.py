"""The pages: a module each, with a function ``page``.

Not in a folder named pages: Streamlit would serve its modules before it knows these pages.
"""
