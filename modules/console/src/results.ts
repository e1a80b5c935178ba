// The pages of what was collected, a script of their own.
import "./shell/app"; // what that has is in the first script, so this one has none of it
export { Creators } from "./pages/creators";
export { Hooks } from "./pages/hooks";
export { Library } from "./pages/library";
export { Outliers } from "./pages/outliers";
export { Trends } from "./pages/trends";
