/** The table that holds a gateway's state: pieces of JSON text, by the key that the gateway gave them. */
export class Pieces {
  #sql;
  #made = false;

  /** @param {SqlStorage} sql the SQLite database of a Durable Object */
  constructor(sql) {
    this.#sql = sql;
  }

  /** All pieces. An object that never kept any has no table, and so costs nothing. @returns {string[]} */
  all() {
    this.#made = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'pieces'").toArray().length > 0;
    return this.#made ? this.#sql.exec("SELECT text FROM pieces").toArray().map(({ text }) => text) : [];
  }

  /** @param {string} key @param {string[]} pieces none: nothing is kept under that key any more, nor below it */
  keep(key, pieces) {
    if (!this.#made) {
      this.#sql.exec("CREATE TABLE pieces (key TEXT, part INTEGER, text TEXT, PRIMARY KEY (key, part)) WITHOUT ROWID");
      this.#made = true;
    }
    this.#sql.exec("DELETE FROM pieces WHERE key = ?", key);
    // "0" is the next character after "/".
    if (pieces.length === 0) this.#sql.exec("DELETE FROM pieces WHERE key > ? AND key < ?", `${key}/`, `${key}0`);
    pieces.forEach((text, part) => this.#sql.exec("INSERT INTO pieces VALUES (?, ?, ?)", key, part, text));
  }
}
