"""The pages that ``talkhouse dashboard`` serves on this machine, by Streamlit."""
