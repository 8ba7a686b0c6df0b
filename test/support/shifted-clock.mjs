/** Shifts the clock of a process by SHIFT_MS: `node --import` of this module. */
const shift = Number(process.env.SHIFT_MS);
const now = () => Real.now() + shift;
const Real = Date;
globalThis.Date = new Proxy(Real, {
  construct: (of, given, by) =>
    Reflect.construct(of, given.length === 0 ? [now()] : given, by === Date ? of : by),
  get: (of, name) => (name === 'now' ? now : Reflect.get(of, name)),
});
