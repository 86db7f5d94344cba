"""KKT points that are known without a flow: closed forms and the convex pair of neurons."""
