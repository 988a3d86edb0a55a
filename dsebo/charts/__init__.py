"""Figures, drawn by Plotly. No Streamlit in here."""
