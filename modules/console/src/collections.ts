// Collections and what puts videos into them, a script of their own.
import "./shell/app"; // what that has is in the first script, so this one has none of it
export { Collections } from "./pages/collections";
export { SaveTo } from "./pages/collections-save";
