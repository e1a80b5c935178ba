// Verifies a delivery by the library of the Standard Webhooks specification.
import { Webhook } from "standardwebhooks";

export function changeOf(secret: string, body: string, headers: Record<string, string>): { type: string; data: { id: string } } {
  return new Webhook(secret).verify(body, headers) as { type: string; data: { id: string } };
}
