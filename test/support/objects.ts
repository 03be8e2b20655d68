import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { buildApp } from "fauxqs";
import { bucketVariable } from "../../shared/environment.ts";

/** A bucket on an embedded S3, which `shared/aws/objects.ts` uses from then on. */
export interface TestBucket {
  readonly name: string;
  readonly put: (key: string, content: string | Uint8Array) => Promise<void>;
  readonly get: (key: string) => Promise<string>;
  /** As S3 lists them. */
  readonly list: (prefix: string) => Promise<readonly { readonly Key: string; readonly Size: number }[]>;
  /** How many uploads of parts were begun and neither completed nor aborted. */
  readonly openUploads: () => number;
  readonly close: () => Promise<void>;
}

/** Starts an embedded S3 with one empty bucket. */
export async function startBucket(): Promise<TestBucket> {
  const app = buildApp({ logger: false });
  let openUploads = 0;
  app.addHook("onSend", async ({ method, query }, { statusCode }) => {
    const names = statusCode < 300 ? Object.keys(query as object) : [];
    if (method === "POST" && names.includes("uploads")) openUploads++;
    if (["POST", "DELETE"].includes(method) && names.includes("uploadId")) openUploads--;
  });
  const endpoint = await app.listen({ host: "127.0.0.1", port: 0 });
  const name = "density-import";
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: endpoint, [bucketVariable]: name });
  const client = new S3Client({
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  await client.send(new CreateBucketCommand({ Bucket: name }));
  return {
    name,
    put: async (key, content) => {
      await client.send(new PutObjectCommand({ Bucket: name, Key: key, Body: content }));
    },
    get: async (key) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: key }));
      return (await Body?.transformToString()) ?? "";
    },
    list: async (prefix) => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: name, Prefix: prefix }));
      return Contents.map(({ Key = "", Size = 0 }) => ({ Key, Size }));
    },
    openUploads: () => openUploads,
    close: async () => {
      client.destroy();
      await app.close();
    },
  };
}
