// What the provider knows, and can be told to forget. It looks at expiry times itself.
export class Memory {
  shelves = new Map();

  shelf(model) {
    if (!this.shelves.has(model)) this.shelves.set(model, new Shelf());
    return this.shelves.get(model);
  }

  forget(isMeant, models) {
    let count = 0;
    for (const model of models) {
      for (const [id, row] of this.shelf(model).rows) {
        if (isMeant(row) && this.shelf(model).rows.delete(id)) count += 1;
      }
    }
    return count;
  }
}

class Shelf {
  rows = new Map();

  async upsert(id, row) {
    this.rows.set(id, row);
  }

  async find(id) {
    return this.rows.get(id);
  }

  async findByUid(uid) {
    return [...this.rows.values()].find((row) => row.uid === uid);
  }

  async consume(id) {
    this.rows.get(id).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    this.rows.delete(id);
  }

  async revokeByGrantId(grantId) {
    // Of this shelf alone: a sign-in that is under way as somebody else knows the old grant too.
    for (const [id, row] of this.rows) if (row.grantId === grantId) this.rows.delete(id);
  }
}
