// The bundle answers this import with the English texts of messages.ts.
declare module "messages:first" {
  const texts: Record<string, string | { one: string; other: string }>;
  export default texts;
}
