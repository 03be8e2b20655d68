/** Dynalite's stores: their location, and how an item and its index entries are written together. */
import { createRequire } from "node:module";

const stores = createRequire(import.meta.url)("dynalite/db");
const { create, updateIndexes } = stores;

/**
 * Prepares the next store that dynalite creates. By itself, dynalite writes an item's index entries one by one before
 * the item; a kill in between would leave item and index inconsistent for good. Here all of them are one batch, which
 * LevelDB writes atomically.
 * @param {string} [folder] LevelDB's folder; if undefined, the store is in memory.
 * @returns {() => Promise<void>} a function that waits until the store that was created since is open.
 * @throws {Error} from that function, if the store cannot be opened.
 */
export function prepareStore(folder) {
  let db;
  stores.create = (options) => {
    const store = create({ ...options, path: folder });
    db = store.db;
    if (folder !== undefined) endAtFailedWrite(db);
    writeItemsWhole(db);
    closeIterators(db);
    return store;
  };
  return async () => {
    await db.open();
    await removeUnfinishedTables(db);
  };
}

/** After a write that failed, as on a full disk, LevelDB refuses every other: the thread ends by the error. */
function endAtFailedWrite(db) {
  const end = (error) =>
    setImmediate(() => {
      throw error;
    });
  for (const method of ["put", "del", "batch"]) {
    const write = db[method];
    db[method] = (...parameters) => {
      const callback = parameters.at(-1);
      if (typeof callback !== "function") return write.call(db, ...parameters);
      return write.call(db, ...parameters.slice(0, -1), (error) => {
        if (error) end(error);
        callback(error);
      });
    };
  }
}

function writeItemsWhole(db) {
  const { put, del } = db;
  let collect;
  db.put = (key, value, callback) =>
    collect === undefined ? put(key, value, callback) : collect({ type: "put", key, value }, callback);
  db.del = (key, callback) =>
    collect === undefined ? del(key, callback) : collect({ type: "del", key }, callback);
  // dynalite calls `writeItem` synchronously, and writes nothing but the item before it returns.
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

/**
 * dynalite ends an iterator by `return`, which iterators of the store do not have: none would be closed, and each would
 * keep the items as they were when it was made.
 */
function closeIterators(db) {
  for (const method of ["keys", "values"]) {
    const iterate = db[method];
    db[method] = (options) => {
      const iterator = iterate.call(db, options);
      iterator.return = () => iterator.close();
      return iterator;
    };
  }
}

/** A table is stored before it is ready. One that was not ready when the program was killed has no items. */
async function removeUnfinishedTables(db) {
  for await (const [key, { TableStatus }] of db.iterator({ gt: "table~", lt: "table~\xFF" })) {
    if (TableStatus !== "ACTIVE") await db.del(key);
  }
}
