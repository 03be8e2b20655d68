/** DuckDB, which reads the files that people analyse. */
import { DuckDBInstance } from "@duckdb/node-api";

/** The rows that a query finds. */
export async function query(sql: string): Promise<unknown> {
  const database = await DuckDBInstance.create(":memory:");
  const connection = await database.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

/** A whole number in a query, which is otherwise read as text. */
export const number = (name: string) => `${name}::INTEGER AS ${name}`;

/** A moment in a query, as the API has it. */
export const time = (name: string) => `strftime(${name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS ${name}`;
