import { area } from "../../shared/area.ts";
import { densityCallers } from "./callers/tables.ts";
import { retrieveCapabilities } from "./capabilities/contract.ts";
import { retrievePopulationDensity, summarizePopulationDensity } from "./contract.ts";
import { densityJobs, densityPermits } from "./delivery/tables.ts";
import { densityFormats, summaryFormats } from "./format-schemas.ts";
import { densityImports } from "./import/store/tables.ts";
import { cancelOperation, listOperations, readOperation, redeliverOperation } from "./operations/contract.ts";
import { densities } from "./tiles/table.ts";
import { createWebhookSecret, deleteWebhookSecret, listWebhookSecrets } from "./webhook-secrets/contract.ts";
import { webhookSecrets } from "./webhook-secrets/tables.ts";

/** Estimates of how many people are in an area, by cell and hour. */
export const populationDensityArea = area({
  name: "population-density",
  title: "Population Density Data",
  about: "Estimates of how many people are in an area, by cell and hour.",
  endpoints: [
    retrievePopulationDensity,
    summarizePopulationDensity,
    retrieveCapabilities,
    listOperations,
    readOperation,
    cancelOperation,
    redeliverOperation,
    createWebhookSecret,
    listWebhookSecrets,
    deleteWebhookSecret,
  ],
  scopes: {
    "population-density-data:read":
      "Retrieve population density, follow and cancel own operations, and have their deliveries signed.",
  },
  formats: {
    retrievePopulationDensity: densityFormats,
    summarizePopulationDensity: summaryFormats,
  },
  tables: [densities, densityImports, densityJobs, densityCallers, densityPermits, webhookSecrets],
});
