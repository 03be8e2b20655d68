import { parseAllowedNetworks } from "../sinks/networks.ts";

/** Private networks that sinks may be in; for local runs only, no deployed stage sets it. */
export const SINK_ALLOWED_NETWORKS = {
  name: "SINK_ALLOWED_NETWORKS",
  default: "",
  format: () => ({
    read: parseAllowedNetworks,
    must:
      "be empty or networks with their ports as CIDR:port or CIDR:port-port, separated by commas, " +
      "such as 10.0.0.0/8:443,[fd12::]/16:8080-8090",
  }),
};
