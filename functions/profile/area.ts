import { area } from "../../shared/area.ts";
import { authenticate } from "./contract.ts";
import { loginAttempts, profiles } from "./tables.ts";

/** Logins and the access tokens they give. */
export const profileArea = area({
  name: "profile",
  title: "Authentication",
  about: "Logins and the access tokens they give.",
  endpoints: [authenticate],
  scopes: {},
  tables: [profiles, loginAttempts],
});
