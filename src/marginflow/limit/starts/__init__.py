"""Where the polish of `kkt_point` begins: one file for each way, tried one after the other."""
