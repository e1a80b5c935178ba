// The pages in which research is set up and run, a script of their own.
import "./shell/app"; // what that has is in the first script, so this one has none of it
export { BriefPage } from "./pages/brief";
export { Claim } from "./pages/claim";
export { ImportFile } from "./pages/import-file";
export { RulesPage } from "./pages/rules";
export { ScrollPage } from "./pages/scroll";
export { Steps } from "./pages/start-steps";
export { Subscribe } from "./pages/subscribe";
export { Watch } from "./pages/start-watch";
