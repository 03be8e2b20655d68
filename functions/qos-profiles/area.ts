import { area } from "../../shared/area.ts";
import { getQosProfile, retrieveQosProfiles } from "./contract.ts";
import { qosProfiles } from "./tables.ts";

/** Named sets of network quality parameters, and the devices they are available to. */
export const qosProfilesArea = area({
  name: "qos-profiles",
  title: "QoS Profiles",
  about: "Named sets of network quality parameters, and the devices they are available to.",
  endpoints: [retrieveQosProfiles, getQosProfile],
  scopes: { "qos-profiles:read": "List QoS profiles and read one by name." },
  tables: [qosProfiles],
});
