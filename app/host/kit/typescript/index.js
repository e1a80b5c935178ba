// What a stage in TypeScript or JavaScript needs of Scrollery. index.d.ts explains it.
export { dollars, Ended, Enough, Fault, log, outcome, textOf } from "./call.js";
export { serve } from "./server.js";
