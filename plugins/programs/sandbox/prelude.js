(() => {
  const host = {};
  for (const name of ["print", "read", "remove", "write", "list", "data", "names", "rejected"]) {
    host[name] = globalThis["__" + name];
    delete globalThis["__" + name];
  }
  const { parse, stringify } = JSON;
  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return String(value);
    if (typeof value === "object" && value !== null) return stringify(value) ?? String(value);
    return String(value);
  };
  const print = (...values) => { host.print(values.map(text).join(" ") + "\n"); };
  // A program may call its own things by these names.
  const give = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  give("print", print);
  give("console", Object.freeze({ log: print, info: print, warn: print, error: print, debug: print }));
  give("files", Object.freeze({
    read: (path) => host.read(String(path)),
    write: (path, data) => { host.write(String(path), String(data)); },
    remove: (path) => { host.remove(String(path)); },
    list: () => parse(host.list()),
  }));
  const data = {};
  for (const name of parse(host.names())) {
    let value;
    Object.defineProperty(data, name, { enumerable: true, get: () => (value ??= parse(host.data(name))) });
  }
  give("data", Object.freeze(data));
  // What comes of the program as a whole: a promise that it ends with counts.
  const then = Promise.prototype.then;
  return (value) => {
    if (value instanceof Promise) then.call(value, undefined, (why) => { host.rejected(text(why)); });
  };
})();
