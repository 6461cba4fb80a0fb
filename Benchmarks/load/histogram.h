// A histogram of nanoseconds in buckets that grow with the value: 128 to a power of two, so that a
// quantile is off by less than 0.8 %.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

class Histogram {
public:
    void add(uint64_t nanos) {
        ++counts_[bucket(nanos)];
        ++total_;
        sum_ += nanos;
        if (nanos > max_) max_ = nanos;
    }

    uint64_t count() const { return total_; }
    double mean() const { return total_ == 0 ? 0 : double(sum_) / double(total_); }
    uint64_t max() const { return max_; }

    /// The largest value of the bucket that holds the quantile; 0 when empty.
    uint64_t quantile(double fraction) const {
        if (total_ == 0) return 0;
        uint64_t rank = uint64_t(fraction * double(total_));
        if (rank >= total_) rank = total_ - 1;
        uint64_t seen = 0;
        for (size_t index = 0; index < counts_.size(); ++index) {
            seen += counts_[index];
            if (seen > rank) return upperBound(index) < max_ ? upperBound(index) : max_;
        }
        return max_;
    }

private:
    static constexpr int subBits = 7;
    static constexpr uint64_t subCount = 1 << subBits;

    // Values below 128 have a bucket each; above, the top 8 bits of the value name the bucket.
    static size_t bucket(uint64_t value) {
        if (value < subCount) return value;
        int shift = std::bit_width(value) - subBits - 1;
        return size_t(shift + 1) * subCount + ((value >> shift) - subCount);
    }

    static uint64_t upperBound(size_t index) {
        if (index < subCount) return index;
        int shift = int(index / subCount) - 1;
        return ((index % subCount + subCount + 1) << shift) - 1;
    }

    std::array<uint64_t, 58 * subCount> counts_{};
    uint64_t total_ = 0;
    uint64_t sum_ = 0;
    uint64_t max_ = 0;
};
