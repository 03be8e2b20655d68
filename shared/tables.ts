interface TableDescription {
  /** Attribute of the partition key; a string. */
  readonly partitionKey: string;
  /** Attribute of the sort key; a string. */
  readonly sortKey?: string;
  /** Attribute with the epoch second after which DynamoDB may delete the item. */
  readonly timeToLive?: string;
  /** A second order of those items that have its keys; strings, too. It is not up to date at once. */
  readonly index?: {
    readonly name: string;
    readonly partitionKey: string;
    readonly sortKey: string;
    /** What it holds beside the keys. */
    readonly attributes: readonly string[];
  };
  /** Whether the items can be made again from nothing: such a table is neither backed up nor kept. */
  readonly ephemeral?: boolean;
}

/** Every table, described once: the stack creates them from here and the stores read their keys here. */
export const tables = {
  /** Logins, by e-mail address in lower case. */
  profiles: { partitionKey: "address" },
  /** The QoS catalogue: one partition, so that a sorted query lists it and nothing is ever scanned. */
  "qos-profiles": { partitionKey: "catalogue", sortKey: "name" },
  /** Devices, one item for each identifier, so that any identifier costs one read. */
  devices: { partitionKey: "identifier" },
  /** Who held a number from which day on. */
  "number-assignments": { partitionKey: "phoneNumber", sortKey: "from" },
  /**
   * Population densities: a day of a tile by its precision and geohash, such as `7/u05kq`. The day is a typical
   * weekday, `week#1` (Monday) to `week#7`, or an observed date, `day#2026-11-20`.
   * Of imports alone are the parts of each day, in `parts`, their cells, in `part/…`, and what each has in a tile that
   * several share, `part#day#2026-11-20#…`.
   */
  densities: { partitionKey: "tile", sortKey: "day", timeToLive: "expiresAt" },
  /** Densities to be delivered to a sink. */
  "density-jobs": {
    partitionKey: "operationId",
    timeToLive: "expiresAt",
    ephemeral: true,
    // Only jobs that are pending have the sort key: the index holds those, the oldest first.
    index: {
      name: "pending",
      partitionKey: "state",
      sortKey: "pendingSince",
      attributes: ["queuedAt", "startedAt"],
    },
  },
  /** Which operations of a caller are pending. */
  "density-callers": { partitionKey: "caller", timeToLive: "expiresAt", ephemeral: true },
  /** Uploads under way, all in one item; who waits for one, by limit; hosts that ever took something. */
  "density-permits": {
    partitionKey: "limit",
    sortKey: "entry",
    timeToLive: "expiresAt",
    ephemeral: true,
  },
  /** Public keys of our own tokens: one partition, the whole set in one query. */
  "signing-keys": { partitionKey: "use", sortKey: "kid", timeToLive: "expiresAt" },
  /** Login attempts counted by window. */
  "login-attempts": { partitionKey: "counted", timeToLive: "expiresAt", ephemeral: true },
  /** Requests counted by caller. */
  quotas: { partitionKey: "caller", timeToLive: "expiresAt", ephemeral: true },
} as const satisfies Record<string, TableDescription>;

/** The name of a table in this project; the deployed name is in the environment. */
export type TableName = keyof typeof tables;

/** A table's description with its optional members visible whatever the table. */
export function tableDescription(table: TableName): TableDescription {
  return tables[table];
}

/** The environment variable that holds the deployed name of a table. */
export function tableVariable(table: TableName): string {
  return `TABLE_${table.toUpperCase().replaceAll("-", "_")}`;
}
