package com.sightline.client;

/** The client takes no event, or will never know its verdict. */
public final class ClientException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ClientException(String message, Throwable cause) {
        super(message, cause);
    }
}
