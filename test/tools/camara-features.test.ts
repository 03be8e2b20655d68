/** CAMARA's own feature files, which are no part of the project: without them these tests are skipped, and say so. */
import { expect, test } from "vitest";
import { expectDocumentedFeatures, featuresConfiguration } from "../support/camara-features.ts";
import { camaraRelease } from "../support/camara-release.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { startOwnService } from "../support/own-service.ts";

const definitions = camaraRelease();
if (definitions === undefined)
  console.warn("SKIPPED: CAMARA's features were not run: set CAMARA_DEFINITIONS.");

const folder = useOwnFolder();

test.skipIf(definitions === undefined)(
  "the service passes all scenarios of CAMARA's features of its operations but the documented ones",
  async ({ onTestFinished }) => {
    const service = await startOwnService(featuresConfiguration, { hasDemoData: true, isIssuer: true });
    onTestFinished(() => service.close());
    const key = await service.signingKey();
    await expectDocumentedFeatures(service, definitions ?? expect.fail(), key, folder.path);
  },
);
