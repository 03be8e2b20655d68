/** The stores of dynalite: where they are, and how an item is written together with its entries in indexes. */
import { createRequire } from "node:module";

const stores = createRequire(import.meta.url)("dynalite/db");
const { create, updateIndexes } = stores;

/**
 * Prepares the next store that dynalite makes. It would write the entries of an item in indexes one by one before the
 * item: a program that is killed in between would leave an item that its index does not have, for ever. Here all of
 * them are one batch, of which LevelDB keeps all or nothing.
 * @param folder of LevelDB; in memory if undefined.
 * @returns a function that waits until the store made since is open.
 * @throws {Error} by that function, when the store cannot be opened.
 */
export function prepareStore(folder) {
  let db;
  stores.create = (options) => {
    const store = create({ ...options, path: folder });
    db = store.db;
    writeItemsWhole(db);
    return store;
  };
  return async () => {
    await db.open();
    await removeUnfinishedTables(db);
  };
}

function writeItemsWhole(db) {
  const { put, del } = db;
  let collect;
  db.put = (key, value, callback) =>
    collect === undefined ? put(key, value, callback) : collect({ type: "put", key, value }, callback);
  db.del = (key, callback) =>
    collect === undefined ? del(key, callback) : collect({ type: "del", key }, callback);
  // dynalite calls `writeItem` at once, and the item is all that it writes before it returns.
  stores.updateIndexes = (store, table, before, after, writeItem) => {
    const changes = [];
    collect = (change, callback) => {
      changes.push(change);
      callback();
    };
    try {
      updateIndexes(store, table, before, after, (error) => {
        collect = (change, callback) => db.batch([...changes, change], callback);
        writeItem(error);
      });
    } finally {
      collect = undefined;
    }
  };
}

/** A table is stored before it is ready. One that was not, when the program was killed, has no items. */
async function removeUnfinishedTables(db) {
  for await (const [key, { TableStatus }] of db.iterator({ gt: "table~", lt: "table~\xFF" })) {
    if (TableStatus !== "ACTIVE") await db.del(key);
  }
}
