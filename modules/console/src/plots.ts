// The library for plots, a script of its own: pages without a plot do not load it.
export { default } from "uplot";
