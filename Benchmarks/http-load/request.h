// A request's bytes, and the ids in them, which are new in each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"

/// Numbers that no other run has had: 24 random bits, then a count.
class IDs {
public:
    IDs();
    uint64_t next() { return next_++; }

private:
    uint64_t next_;
};

class Request {
public:
    /// The request of a connection; the number picks the SDK whose postbacks it sends.
    Request(const Options &options, int number);

    /// Writes new ids into the bytes.
    void prepare(IDs &ids);

    const std::string &bytes() const { return bytes_; }

private:
    std::string bytes_;
    /// Where the ids stand, and how many places in turn have the same one.
    std::vector<size_t> places_;
    size_t placesOfEvent_;
};
