"""The hosted pages: what people, strangers and other sites see of them."""
