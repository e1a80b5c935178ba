// Clients and what is made for them, a script of their own.
import "./shell/app"; // what that has is in the first script, so this one has none of it
import texts from "messages:clients";
import { learn } from "./i18n/t";
learn(texts);
export { Clients } from "./pages/clients";
export { Compare } from "./pages/compare";
export { Report } from "./pages/report";
