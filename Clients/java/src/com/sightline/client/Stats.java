package com.sightline.client;

import com.sightline.v1.Verdict;
import java.util.Map;

/**
 * What a client has done, and holds now.
 *
 * @param pending events without a final verdict
 * @param pendingBytes their bytes in requests
 * @param verdicts final verdicts, counted
 * @param streams streams that were opened
 * @param resentRequests requests that went into one more stream
 * @param retriedEvents events that the server told to send later, as often as it did
 * @param cutBytes bytes of a torn record that was cut from the end of the spool
 * @param lastFailure why the last stream failed, or that the server answers every event with
 *         RETRY_LATER; null once events have verdicts again
 */
public record Stats(int pending, long pendingBytes, Map<Verdict, Long> verdicts, long streams,
        long resentRequests, long retriedEvents, long cutBytes, String lastFailure) { }
