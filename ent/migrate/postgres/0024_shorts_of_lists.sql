-- +goose Up
-- Shorts that yt-dlp's lists brought were taken for long videos: lists have no length. An
-- empty kind is worked out anew, and the library scored again.
UPDATE videos SET growth_kind = '' WHERE platform = 'youtube' AND growth_kind = 'youtube_long' AND duration IS NULL;
UPDATE libraries SET method = '' WHERE account_id IN (SELECT account_id FROM videos WHERE growth_kind = '');
