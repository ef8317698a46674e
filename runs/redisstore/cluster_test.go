package redisstore_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"hermes-hub/runs"
	"hermes-hub/runs/storetest"
)

// A cluster keeps each run on one of its nodes, and lists on others.
func TestStoreCluster(t *testing.T) {
	var nodes []*server
	var addrs []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, bus, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close() // the node takes its port
		n := serve(t, "--cluster-enabled", "yes", "--cluster-port", bus)
		nodes, addrs = append(nodes, n), append(addrs, n.addr)
		host, port, _ := net.SplitHostPort(n.addr)
		nodes[0].do(t, "CLUSTER", "MEET", host, port, bus)
	}
	for i, n := range nodes {
		n.do(t, "CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(i*5461), fmt.Sprint(i*5461+5460+i/2))
	}
	for _, n := range nodes {
		await(t, "the cluster", func() bool {
			return strings.Contains(n.do(t, "CLUSTER", "INFO").(string), "cluster_state:ok")
		})
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: addrs, ContextTimeoutEnabled: true, DialTimeout: time.Second, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.Close() }) // nothing is left to be lost
	storetest.Run(t, func(testing.TB) runs.Store { return store(c) })
	for _, n := range nodes {
		if n.do(t, "DBSIZE") == int64(0) {
			t.Error("a node has no keys")
		}
	}
}
