"""What the pages are made of: charts, forms, live components. Only here is Streamlit known."""
