<?php
// Sends three events with PHP's own streams, and prints what each came to: php send.php URL ID
[, $url, $id] = $argv;
$common = ['appId' => 'com.example.shop', 'subjectId' => "subject-$id", 'platform' => 'PLATFORM_IOS'];
$payload = ['aps' => ['alert' => ['title' => 'Sale']], '_mId' => "h$id", '_acsDeliveryTracking' => 'on'];
$opened = ['kind' => 'PUSH_INTERACTION_KIND_OPENED'];
$events = [
    $common + ['eventId' => "typed-$id", 'push' => $opened + ['apns' => $payload + ['_dId' => '56c4']]],
    $common + ['eventId' => "raw-$id", 'push' => $opened + [
        'raw' => ['json' => $payload + ['_dId' => '56c5', 'colour' => 'red']],
    ]],
    $common + ['eventId' => "in-app-$id", 'inApp' => [
        'messageId' => 'spring', 'click' => ['actionUrl' => 'https://example.com'],
    ]],
];
$answer = file_get_contents("$url/v1/events?results=all", false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => 'Content-Type: application/json',
    'content' => json_encode($events),
    'protocol_version' => 1.1,
    'timeout' => 30,
    'ignore_errors' => true,
]]));
echo $answer;
exit($answer !== false && str_contains($http_response_header[0], ' 200 ') ? 0 : 1);
