"""`ttc report`: results of `ttc bench` and `ttc compare`, and stored solutions, as one page with pictures."""
