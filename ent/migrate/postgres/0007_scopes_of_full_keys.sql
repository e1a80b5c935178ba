-- +goose Up
-- a lasting key with every scope of the release before has every scope of this one
UPDATE "keys" SET "scopes" = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write usage:read keys:read keys:write webhooks:read webhooks:write account:read account:write sandbox:write agent:run billing:write' WHERE "parent_id" IS NULL AND "scopes" = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write usage:read keys:write sandbox:write agent:run billing:write';
